import type { OrderKindName } from '../model/order.ts';
import { limitKind } from './limit.ts';
import type { OrderKind } from './order-kind.ts';
import { stopLimitKind } from './stop-limit.ts';

/** Every kind of order there is: one that is missing here is an error of types. */
const kinds: { readonly [Name in OrderKindName]: OrderKind<Name> } = {
  stop_limit: stopLimitKind,
  limit: limitKind,
};

export const orderKinds: readonly OrderKind[] = Object.values(kinds);

export function kindNamed(name: OrderKindName): OrderKind {
  return kinds[name];
}
