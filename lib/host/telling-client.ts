import { dayMs } from '../base/time-zone.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import type { Oddity } from '../exchange/listed.ts';
import { createTeller, type TellServices, type Told } from '../ledger/tell-once.ts';

type ExchangeFor = (account: string) => Promise<ExchangeClient>;

/**
 * Raises an alarm for what a list has that the relay does not understand, whoever reads it: once for each word and account,
 * and once a day for records that cannot be read.
 *
 * @param exchangeFor the clients of accounts
 */
export function tellOddities(exchangeFor: ExchangeFor, services: TellServices): ExchangeFor {
  const teller = createTeller(services);
  const telling = (account: string, client: ExchangeClient): ExchangeClient => ({
    dialect: client.dialect,
    prepare: (endpoint, params) => client.prepare(endpoint, params),
    async call(endpoint, params, options) {
      const result = await client.call(endpoint, params, options);
      for (const oddity of odditiesIn(result)) await teller.tell(account, describe(endpoint.name, oddity));
      return result;
    },
  });
  return async (account) => telling(account, await exchangeFor(account));
}

function odditiesIn(result: unknown): readonly Oddity[] {
  const isPage = typeof result === 'object' && result !== null && 'oddities' in result;
  return isPage ? (result.oddities as readonly Oddity[]) : [];
}

function describe(list: string, oddity: Oddity): Told {
  const { market } = oddity;
  if (oddity.kind === 'word') {
    const { field, word } = oddity;
    const message = `the exchange lists a ${field} that this relay does not know: "${word}"; its record is read all the same, and the word is kept: look up on the website of the exchange what it means`;
    return {
      key: `word ${field} ${word}`,
      alarm: { name: 'unknown_word', message },
      facts: { list, market, field, word },
      everyMs: null,
    };
  }
  const where = market === null ? '' : ` of ${market}`;
  const message = `a record${where} in a list of the exchange cannot be read and is left out; until it can be read, the relay takes nothing there for absent: compare \`npx relay orders\` and \`npx relay positions\` with the website of the exchange`;
  return {
    key: `record ${list} ${market ?? ''}`,
    alarm: { name: 'record_unreadable', message },
    facts: { list, market, issues: oddity.issues },
    everyMs: dayMs,
  };
}
