import type { ExitRole } from './signal.ts';

const words: Readonly<Record<ExitRole, string>> = { stop_loss: 'stop', take_profit: 'target' };

/**
 * With what the id of a signal ends that keeps a stop-loss or take-profit: `:stop-t3k9f2`, `:target2-t3k9f2`; or that closes
 * what one has turned: `:turned-t3k9f2`.
 */
export function protectSuffixOf(
  { role, part, turnedBy }: { readonly role: ExitRole; readonly part?: number; readonly turnedBy?: number },
  nowMs: number,
): string {
  const word = turnedBy === undefined ? `${words[role]}${part ?? ''}` : 'turned';
  return `:${word}-${Math.floor(nowMs / 1000).toString(36)}`;
}

/** The id of the alert that places a missing stop-loss. Sent twice in one second, it places one order. */
export function missingStopIdOf(orderId: number, nowMs: number): string {
  return `stop-${orderId}-${Math.floor(nowMs / 1000)}`;
}

/** @returns the id of the order whose missing stop-loss the signal is; null for any other signal */
export function orderNamedBy(signalId: string): number | null {
  const [, orderId] = /^stop-(\d{1,15})-\d{1,12}$/.exec(signalId) ?? [];
  return orderId === undefined ? null : Number(orderId);
}

/** What the id of a signal says of the position that its order protects. */
export interface NamedProtection {
  /** With what its id begins: the id of the signal that asked for it, unless that was too long. */
  readonly of: string;
  readonly role: ExitRole;
}

/** @returns null for an id that no such signal has */
export function protectionNamedBy(signalId: string): NamedProtection | null {
  const [, of, word] = /^(.+):(stop|target)\d?-[0-9a-z]{1,8}$/.exec(signalId) ?? [];
  if (of === undefined) return null;
  return { of, role: word === words.stop_loss ? 'stop_loss' : 'take_profit' };
}
