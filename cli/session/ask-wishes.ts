import type { Credentials } from '../../lib/exchange/client.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import {
  type FirstMarket,
  type FirstWishes,
  readChannels,
  readLargest,
  readMarketName,
  readMode,
  readTradingGround,
  split,
} from '../read/first-config.ts';
import type { Terminal } from '../show/terminal.ts';
import { askHidden, openPrompter } from './ask-hidden.ts';

/**
 * Asks for what a first configuration needs; an empty answer takes what stands in brackets. What cannot be used is asked for
 * again: a slip of the finger costs no other answer.
 *
 * @throws CommandFailure (usage) when the person gave up
 */
export async function askForWishes(terminal: Terminal): Promise<FirstWishes> {
  const prompter = openPrompter(terminal, false);
  const ask = async (question: string, otherwise: string): Promise<string> => {
    const answer = await prompter.ask(`${question} [${otherwise}]`);
    if (answer === undefined)
      throw createUsageFailure('you gave up, and nothing was written', 'Start again.');
    return answer === '' ? otherwise : answer;
  };
  const askFor = async <Answer>(
    question: string,
    otherwise: string,
    read: (text: string) => Answer,
  ): Promise<Answer> => {
    for (;;) {
      const text = await ask(question, otherwise);
      try {
        return read(text);
      } catch (error) {
        if (!(error instanceof CommandFailure)) throw error;
        terminal.stderr.write(`${error.message}. ${error.action}\n`);
      }
    }
  };
  try {
    const account = await ask('Name of the account, part of its webhook URL', 'main');
    const mode = await askFor('Mode: paper, dry-run, or live (on AWS: real money)', 'paper', readMode);
    const exchange = await ask('Exchange: global, eu, or a URL', 'global');
    const names = await askFor('Markets, with commas between them', 'BTC_USDT', (text) =>
      split(text).map(readMarketName),
    );
    const markets: FirstMarket[] = [];
    for (const name of names) {
      const tradesOn = name.endsWith('_PERP')
        ? 'futures'
        : await askFor(`${name} trades on: spot or margin`, 'spot', readTradingGround);
      const maxAmount = await askFor(`${name}: largest order, in the base currency`, '0.01', readLargest);
      const maxNotional = await askFor(`${name}: largest order, in the quote currency`, '1000', readLargest);
      markets.push({ name, tradesOn, maxAmount, maxNotional });
    }
    const channels = await askFor(
      'Notices: telegram, slack, discord, ntfy, webhook, or none',
      'none',
      (text) => (text === 'none' ? [] : readChannels(text)),
    );
    return { account, mode, exchange, markets, channels };
  } finally {
    prompter.close();
  }
}

/** @returns null when the person has no key at hand */
export async function askForKeys(terminal: Terminal): Promise<Credentials | null> {
  terminal.stderr.write(
    'A key of the exchange, to check what it may read; it is not stored. Empty: no check.\n',
  );
  const [apiKey = '', apiSecret = ''] = (await askHidden(terminal, ['API key', 'API secret'])) ?? [];
  return apiKey === '' || apiSecret === '' ? null : { apiKey, apiSecret };
}
