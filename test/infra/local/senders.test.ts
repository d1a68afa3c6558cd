import { describe, expect, test } from '@jest/globals';
import { createSenderCheck, parseRanges } from '../../../infra/local/senders.ts';

const tradingView = '52.89.214.238';
const direct = createSenderCheck({ reverseProxies: [], allowed: ['203.0.113.0/24', '2001:db8::/32'] });
const behind = createSenderCheck({ reverseProxies: ['127.0.0.1', '10.0.0.0/8'], allowed: [] });

describe('who may post an alert:', () => {
  test.each([
    ['TradingView', tradingView],
    ['TradingView on a socket of IPv6', `::ffff:${tradingView}`],
    ['a sender that the owner allows', '203.0.113.77'],
    ['a sender that the owner allows by IPv6', '2001:db8::7'],
    ['this machine', '127.0.0.1'],
    ['this machine by IPv6', '::1'],
  ])('%s', (_, peer) => {
    expect(direct.refuse(peer, {})).toBeNull();
  });

  test.each([
    ['another address', '198.51.100.1'],
    ['another address by IPv6', '2001:db9::1'],
    ['a connection that is gone', undefined],
  ])('not %s', (_, peer) => {
    expect(direct.refuse(peer, {})).toMatchObject({ code: 'sender_refused' });
  });

  test.each([
    ['an allowed sender', tradingView, null],
    ['the last sender that is no proxy', `1.2.3.4, ${tradingView}, 10.0.0.7`, null],
    ['spaces and IPv4 in IPv6', ` ::ffff:${tradingView} `, null],
    ['another sender', '198.51.100.1', 'came from 198.51.100.1'],
    ['what the sender wrote itself', `${tradingView}, 198.51.100.1`, 'came from 198.51.100.1'],
    ['proxies alone', '10.0.0.7', 'names no sender, but only proxies (10.0.0.7)'],
    ['no address', 'unknown', 'names no sender'],
    ['nothing', '', 'names no sender'],
  ])('behind a proxy that is named: %s', (_, forwarded, reason) => {
    const refusal = behind.refuse('127.0.0.1', { 'x-forwarded-for': forwarded });

    if (reason === null) expect(refusal).toBeNull();
    else expect(refusal?.message).toContain(reason);
  });

  test('nobody by the word of a proxy that is not named, be it on this machine', () => {
    for (const peer of ['127.0.0.1', '198.51.100.1', tradingView])
      expect(direct.refuse(peer, { 'x-forwarded-for': tradingView })?.message).toContain(
        `a proxy at ${peer}, which --reverse-proxy does not name`,
      );
  });

  test('nobody by a proxy that hides the sender', () => {
    for (const header of ['via', 'forwarded', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto'])
      expect(behind.refuse('127.0.0.1', { [header]: tradingView })?.message).toContain('names no sender');
  });
});

test.each(['', 'localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', '10.0.0.0/-1'])(
  '"%s" is no range',
  (text) => {
    expect(() => parseRanges([text])).toThrow(RangeError);
  },
);
