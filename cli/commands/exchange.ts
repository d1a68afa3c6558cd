import type { Command } from 'commander';
import { formatDecimal, zero } from '../../lib/base/decimal.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { type Context, runCommand } from '../command.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import { chooseAccount } from '../session/session.ts';
import { renderTable } from '../show/table.ts';

interface AccountOptions {
  readonly account?: string;
}

export function addExchangeCommands(program: Command): void {
  program
    .command('ping')
    .description('check whether the exchange responds')
    .action((_options: object, command: Command) => runCommand(command, pingExchange));
  program
    .command('balance')
    .description(
      'show the current main balance from the exchange, and the spot balance of an account that trades on spot',
    )
    .option('--account <name>', 'account whose key signs (default: the first configured one)')
    .action((options: AccountOptions, command: Command) =>
      runCommand(command, (context) => showBalance(context, options.account)),
    );
}

async function pingExchange({ session, print }: Context): Promise<void> {
  const { url: exchangeUrl, dialect } = session.locateExchange();
  const startedAtMs = session.clock.nowMs();
  const [response] = await askExchange(session, null, (client) => client.call(ping, {}, { timeoutMs }));
  const tookMs = session.clock.nowMs() - startedAtMs;
  print(
    { exchangeUrl, dialect, response, tookMs },
    () => `${response} from ${exchangeUrl} (exchange.dialect: ${dialect}) in ${tookMs} ms`,
  );
}

const right = { align: 'right' } as const;

async function showBalance({ session, terminal, print }: Context, name: string | undefined): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const result = await askExchange(session, account, (client) => client.call(mainBalance, {}, { timeoutMs }));
  const main = Object.entries(result).map(
    ([ticker, balance]) => [ticker, formatDecimal(balance.mainBalance)] as const,
  );
  const document = { account: account.name, balances: Object.fromEntries(main) };
  const isOnSpot = Object.values(account.markets).some(({ tradesOn }) => tradesOn === 'spot');
  if (!isOnSpot || session.locateExchange().dialect !== 'live') {
    print(document, () =>
      renderTable([{ title: 'ticker' }, { title: 'main balance', ...right }], main, terminal),
    );
    return;
  }
  const listed = await askExchange(session, account, (client) =>
    client.call(tradeBalance, {}, { timeoutMs }),
  );
  const spot = Object.entries(listed)
    .filter(([, { available, freeze }]) => available.plus(freeze).gt(zero))
    .map(
      ([ticker, { available, freeze }]) => [ticker, formatDecimal(available), formatDecimal(freeze)] as const,
    );
  const balances = Object.fromEntries(
    spot.map(([ticker, free, held]) => [ticker, { available: free, inOrders: held }]),
  );
  print({ ...document, spot: balances }, () =>
    [
      renderTable([{ title: 'ticker' }, { title: 'main balance', ...right }], main, terminal),
      renderTable(
        [{ title: 'ticker' }, { title: 'spot: available', ...right }, { title: 'in orders', ...right }],
        spot,
        terminal,
      ),
    ].join('\n\n'),
  );
}
