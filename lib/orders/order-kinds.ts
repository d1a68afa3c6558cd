import type { Dialect } from '../exchange/dialect.ts';
import type { OrderKindName } from '../model/order.ts';
import { limitKind } from './limit.ts';
import type { OrderKind } from './order-kind.ts';
import { stopLimitKind } from './stop-limit.ts';

/** All kinds of orders; a kind that is missing here is a type error. */
const kinds: { readonly [Name in OrderKindName]: OrderKind<Name> } = {
  stop_limit: stopLimitKind,
  limit: limitKind,
};

export const orderKinds: readonly OrderKind[] = Object.values(kinds);

export function kindNamed(name: OrderKindName): OrderKind {
  return kinds[name];
}

/** Whether the dialect has orders of this kind. */
export function isCarried({ endpoint }: OrderKind, dialect: Dialect): boolean {
  return dialect === 'live' || endpoint.availability !== 'live-only';
}
