import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { cancelConditional } from '../../lib/exchange/endpoints/cancel-conditional.ts';
import { ExchangeError, isGroupNotOpen, wasResponseLost } from '../../lib/exchange/errors.ts';
import { listConditionalOrders } from '../../lib/exchange/list-conditional-orders.ts';
import { nameGroup } from '../../lib/exchange/list-groups.ts';
import type { ConditionalOrder } from '../../lib/model/order.ts';
import type { Context } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import { chooseAccount } from '../session/session.ts';
import { paint } from '../show/print.ts';
import { renderOrders } from '../show/render-orders.ts';

export interface GroupOptions {
  readonly oco?: number;
  readonly oto?: number;
  readonly dryRun?: boolean;
  readonly account?: string;
}

/** A group as the command line names it. */
export interface GroupName {
  readonly kind: ConditionalOrder['kind'];
  readonly id: number;
}

/** Null when the options name no group. */
export function groupNameOf({ oco, oto }: GroupOptions): GroupName | null {
  if (oco !== undefined) return { kind: 'oco', id: oco };
  return oto === undefined ? null : { kind: 'oto', id: oto };
}

/** Shows the orders of a group as they are before, and cancels them unless it is a dry run. */
export async function cancelNamedGroup(
  { session, terminal, printChange }: Context,
  market: string,
  name: GroupName,
  { dryRun = false, account: accountName }: GroupOptions,
): Promise<void> {
  if (session.locateExchange().dialect !== 'live') throw createNotInDialect();
  const account = chooseAccount(session.settings, accountName);
  const group = await askExchange(session, account, async (client) => {
    const found = await findGroup(client, market, name);
    if (!dryRun) await cancel(client, market, found);
    return found;
  });
  const what = dryRun ? 'would be cancelled. Its orders:' : 'is cancelled. Its orders were:';
  printChange({ account: account.name, group, isCancelled: !dryRun }, () =>
    [
      paint(`${nameGroup(group)} of account ${account.name} ${what}`),
      renderOrders({ groups: [group], open: [] }, terminal),
    ].join('\n\n'),
  );
}

async function findGroup(
  client: ExchangeClient,
  market: string,
  { kind, id }: GroupName,
): Promise<ConditionalOrder> {
  const { groups, isWhole } = await listConditionalOrders(client, market, { timeoutMs });
  const found = groups.find((group) => group.kind === kind && group.id === id);
  if (found !== undefined) return found;
  throw isWhole ? createNoGroup(market, { kind, id }) : createUnread(market, { kind, id });
}

async function cancel(client: ExchangeClient, market: string, group: ConditionalOrder): Promise<void> {
  try {
    await client.call(cancelConditional, { market, id: group.id }, { timeoutMs });
  } catch (error) {
    if (isPerhapsDone(error)) throw createPerhapsGone(group);
    throw error instanceof ExchangeError && isGroupNotOpen(error) ? createNoGroup(market, group) : error;
  }
}

/**
 * After a lost response the cancellation is sent again. If the first one succeeded, the exchange rejects the
 * second one.
 */
export function isPerhapsDone(error: unknown): boolean {
  return error instanceof ExchangeError && error.failure.kind === 'rejected' && wasResponseLost(error);
}

function createPerhapsGone(group: ConditionalOrder): CommandFailure {
  return new CommandFailure(
    'perhaps_cancelled',
    `the first response was lost, and the exchange rejected the second attempt: either this command cancelled ${nameGroup(group)}, or it ended before`,
    'Check with `orders` that none of its orders is open.',
  );
}

function createNoGroup(market: string, { kind, id }: GroupName): CommandFailure {
  return new CommandFailure(
    'order_not_open',
    `no ${kind.toUpperCase()} ${id} is open in ${market}: one of its orders was filled, or it was cancelled before`,
    'There is nothing to cancel. `orders` lists the open groups with their ids.',
  );
}

function createUnread(market: string, { kind, id }: GroupName): CommandFailure {
  return new CommandFailure(
    'order_not_known',
    `the list of groups in ${market} has a record that cannot be read, so nobody knows whether ${kind.toUpperCase()} ${id} is open`,
    'Cancel its orders one by one with --order-id (`orders` lists them), or on the website of the exchange.',
  );
}

function createNotInDialect(): CommandFailure {
  return new CommandFailure(
    'not_in_dialect',
    'the documented dialect has no request that cancels a group of orders',
    'Cancel one of its orders with --order-id, and check with `orders` that the other one has ended, too.',
  );
}
