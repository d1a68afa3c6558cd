import { type Command, Option } from 'commander';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { ExchangeError, isOrderNotOpen } from '../../lib/exchange/errors.ts';
import { type Context, readCount, runCommand } from '../command.ts';
import { askExchange, timeoutMs } from '../exchange.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { formatAmount, renderFields } from '../print.ts';
import { chooseAccount } from '../session.ts';

interface CancelOptions {
  readonly orderId?: number;
  readonly clientOrderId?: string;
  readonly account?: string;
}

export function addCancelCommand(program: Command): void {
  program
    .command('cancel')
    .description('cancel one open order directly at the exchange')
    .argument('<market>', 'for example BTC_USDT')
    .addOption(
      new Option('--order-id <n>', "the exchange's order id, which `orders` shows")
        .argParser(readCount(1, Number.MAX_SAFE_INTEGER))
        .conflicts('clientOrderId'),
    )
    .option('--client-order-id <id>', 'the client order id, which `signal` shows')
    .option('--account <name>', 'account whose key signs (default: the first configured one)')
    .action((market: string, options: CancelOptions, command: Command) =>
      runCommand(command, (context) => cancelOne(context, market, options)),
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
    throw error instanceof ExchangeError && isOrderNotOpen(error) ? createNotOpen(market) : error;
  });
  printChange({ account: account.name, order }, () =>
    renderFields([
      ['cancelled', `order ${order.orderId}`],
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

function cancelParams(market: string, { orderId, clientOrderId }: CancelOptions) {
  if (orderId !== undefined) return { market, orderId };
  if (clientOrderId !== undefined) return { market, clientOrderId };
  throw createUsageFailure('no order is named', 'Give --order-id or --client-order-id.');
}

/**
 * After a lost response the cancellation is sent again. If the first one succeeded, the exchange rejects the
 * second one.
 */
function isPerhapsDone(error: unknown): boolean {
  return (
    error instanceof ExchangeError &&
    error.failure.kind === 'rejected' &&
    error.attempts.some(({ failure }) => failure.kind === 'ambiguous')
  );
}

function createPerhapsCancelled(): CommandFailure {
  return new CommandFailure(
    'perhaps_cancelled',
    'the first response was lost, and the exchange rejected the second attempt: either this command cancelled the order, or it was not open before',
    "Check the exchange's order history; on the paper exchange, check `paper state`.",
  );
}

function createNotOpen(market: string): CommandFailure {
  return new CommandFailure(
    'order_not_open',
    `no such order is open in ${market}: it was filled, was cancelled before, or was never placed`,
    "There is nothing to cancel. `orders` lists the open orders; the exchange's order history shows the others.",
  );
}
