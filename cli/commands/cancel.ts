import { type Command, Option } from 'commander';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { ExchangeError, isOrderNotOpen } from '../../lib/exchange/errors.ts';
import { type Context, readCount, runCommand } from '../command.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { cancelNamedGroup, type GroupOptions, groupNameOf, isPerhapsDone } from '../read/cancel-group.ts';
import { askExchange, explainMarket, timeoutMs } from '../session/exchange.ts';
import { chooseAccount, describeChosen } from '../session/session.ts';
import { formatAmount, renderFields } from '../show/print.ts';

interface CancelOptions extends GroupOptions {
  readonly orderId?: number;
  readonly clientOrderId?: string;
  readonly account?: string;
}

export function addCancelCommand(program: Command): void {
  program
    .command('cancel')
    .description('cancel one open order, or one group of orders, directly at the exchange')
    .argument('<market>', 'for example BTC_USDT')
    .addOption(
      new Option('--order-id <n>', "the exchange's order id, which `orders` shows")
        .argParser(readCount(1, Number.MAX_SAFE_INTEGER))
        .conflicts('clientOrderId'),
    )
    .option('--client-order-id <id>', 'the client order id, which `signal` shows')
    .addOption(
      createIdOption(
        '--oco <n>',
        'a pair of orders, one of which cancels the other: the id that `orders` shows',
      ),
    )
    .addOption(
      createIdOption(
        '--oto <n>',
        'an order and its planned stop-loss and take-profit: the id that `orders` shows',
      ).conflicts('oco'),
    )
    .option('--dry-run', 'show the orders of the group, and cancel nothing')
    .option('--account <name>', 'account whose key signs (default: the first configured one)')
    .action((market: string, options: CancelOptions, command: Command) =>
      runCommand(command, (context) => {
        const group = groupNameOf(options);
        return group === null
          ? cancelOne(context, market, options)
          : cancelNamedGroup(context, market, group, options);
      }),
    );
}

async function cancelOne(
  { session, printChange }: Context,
  market: string,
  options: CancelOptions,
): Promise<void> {
  const account = chooseAccount(session.settings, options.account);
  const params = cancelParams(market, options);
  const order = await askExchange(session, account, (client) =>
    client.call(cancelOrder, params, { timeoutMs }),
  ).catch((error: unknown) => {
    if (isPerhapsDone(error)) throw createPerhapsCancelled();
    throw error instanceof ExchangeError && isOrderNotOpen(error)
      ? createNotOpen(market, describeChosen(session, account, options.account, 'orders --account'))
      : explainMarket(error, account, market);
  });
  printChange({ account: account.name, order }, () =>
    renderFields([
      ['cancelled', `order ${order.orderId}`],
      ['account', account.name],
      ['client order id', order.clientOrderId === '' ? null : order.clientOrderId],
      [
        'was',
        `${order.side} ${formatAmount(order.amount)} of ${order.market} at ${formatAmount(order.price)}`,
      ],
      ['filled before', formatAmount(order.filled)],
      ['remaining', formatAmount(order.remaining)],
    ]),
  );
}

function createIdOption(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser(readCount(1, Number.MAX_SAFE_INTEGER))
    .conflicts(['orderId', 'clientOrderId']);
}

function cancelParams(market: string, { orderId, clientOrderId, dryRun }: CancelOptions) {
  if (dryRun === true)
    throw createUsageFailure('--dry-run is for groups', 'Name one with --oco or --oto, or leave it out.');
  if (orderId !== undefined) return { market, orderId };
  if (clientOrderId !== undefined) return { market, clientOrderId };
  throw createUsageFailure('no order is named', 'Give --order-id, --client-order-id, --oco or --oto.');
}

function createPerhapsCancelled(): CommandFailure {
  return new CommandFailure(
    'perhaps_cancelled',
    'the first response was lost, and the exchange rejected the second attempt: either this command cancelled the order, or it was not open before',
    "Check the exchange's order history; on the paper exchange, check `paper state`.",
  );
}

/** @param chosen the account that was looked at */
function createNotOpen(market: string, chosen: string): CommandFailure {
  return new CommandFailure(
    'order_not_open',
    `no such order is open in ${market}: it was filled, was cancelled before, or was never placed`,
    `There is nothing to cancel. \`orders\` lists the open orders; the exchange's order history shows the others. ${chosen}`,
  );
}
