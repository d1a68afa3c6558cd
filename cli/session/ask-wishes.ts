import type { Credentials } from '../../lib/exchange/client.ts';
import { createUsageFailure } from '../failure.ts';
import { type FirstWishes, readChannels, readMarket, readMode, split } from '../read/first-config.ts';
import type { Terminal } from '../show/terminal.ts';
import { askHidden, openPrompter } from './ask-hidden.ts';

/**
 * Asks for what a first configuration needs; an empty answer takes what stands in brackets.
 *
 * @throws CommandFailure (usage) when an answer cannot be used, or the person gave up
 */
export async function askForWishes(terminal: Terminal): Promise<FirstWishes> {
  const prompter = openPrompter(terminal, false);
  const ask = async (question: string, otherwise: string): Promise<string> => {
    const answer = await prompter.ask(`${question} [${otherwise}]`);
    if (answer === undefined)
      throw createUsageFailure('you gave up, and nothing was written', 'Start again.');
    return answer === '' ? otherwise : answer;
  };
  try {
    const account = await ask('Name of the account, part of its webhook URL', 'main');
    const mode = readMode(await ask('Mode: paper, dry-run, or live (on AWS: real money)', 'paper'));
    const exchange = await ask('Exchange: global, eu, or a URL', 'global');
    const names = split(await ask('Markets, with commas between them', 'BTC_USDT'));
    const markets = [];
    for (const name of names) {
      const ground = name.endsWith('_PERP')
        ? 'futures'
        : await ask(`${name} trades on: spot or margin`, 'spot');
      const amount = await ask(`${name}: largest order, in the base currency`, '0.01');
      const notional = await ask(`${name}: largest order, in the quote currency`, '1000');
      markets.push(readMarket([name, ground, amount, notional].join(':')));
    }
    const channels = await ask('Notices: telegram, slack, discord, ntfy, webhook, or none', 'none');
    return { account, mode, exchange, markets, channels: channels === 'none' ? [] : readChannels(channels) };
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
