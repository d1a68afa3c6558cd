import { describe, expect, test } from '@jest/globals';
import { type GreetingFacts, writeGreeting } from '../../../infra/local/greeting.ts';
import { parseConfig } from '../../../lib/host/config.ts';
import type { Account } from '../../../lib/model/account.ts';
import { describeRegions } from '../../../lib/model/region.ts';
import shipped from '../../../relay.config.example.ts';

const facts: GreetingFacts = {
  relayUrl: 'http://127.0.0.1:8080',
  paperUrl: 'http://127.0.0.1:8090',
  dialect: 'live',
  isFrozen: false,
  data: '.relay',
  webhookUrl: 'http://127.0.0.1:8080/signals/main/token',
  account: parseConfig(shipped).settings.accounts['main'] as Account,
  regionNotes: [],
  paused: [],
  wasPaperEmptied: false,
};

describe('the greeting of a local run', () => {
  test('ends with "ready", and has no warnings when there is nothing to warn about', () => {
    const greeting = writeGreeting(facts);

    expect(greeting.endsWith('\nready\n')).toBe(true);
    expect(greeting).not.toMatch(/PAUSED|REGION|EDIT/);
    expect(greeting).toContain('"orderType": "market"');
  });

  test('says what the region of an account leaves to it', () => {
    const regionNotes = describeRegions({ main: { name: 'main', region: 'eu' } });

    expect(writeGreeting({ ...facts, regionNotes })).toContain(
      '  REGION          main: in the EU the exchange offers spot trading only',
    );
  });

  test('says that the paper exchange starts afresh', () => {
    expect(writeGreeting({ ...facts, wasPaperEmptied: true })).toContain(
      '  NEW             The paper exchange starts afresh:',
    );
  });

  test('names the fields to edit in a message that does not fit every script', () => {
    expect(writeGreeting({ ...facts, dialect: 'documented' })).toContain('; EDIT stopPrice first');
  });
});
