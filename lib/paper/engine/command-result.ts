import type { PaperOrder } from './exchange-state.ts';
import type { RefusalName } from './refusals.ts';

/** What a command did. */
export type CommandResult =
  | { readonly result: 'order'; readonly order: PaperOrder }
  | { readonly result: 'refused'; readonly refusal: RefusalName }
  /** `touched` is whether any order changed; if none did, only the last price has. */
  | { readonly result: 'traded'; readonly touched: boolean }
  | { readonly result: 'set' };

export function refused(refusal: RefusalName): CommandResult {
  return { result: 'refused', refusal };
}
