import type { Alert } from './alerts.ts';
import type { Process } from './process.ts';

/** What a sender gets; `broken` is a connection that ended without a response. */
export type Reply = { readonly httpStatus: number; readonly body: string } | 'broken';

/** A relay that runs somewhere, crashes included. */
export interface Deployment {
  start(): void;
  /** One HTTP request; always ends. */
  receive(alert: Alert, token: string): Promise<Reply>;
  /** The operator puts the dead letters back, if there are any. */
  redrive(): Promise<void>;
  /** Sets every clock so far ahead of the true time; behind it, when negative. They are right until then. */
  setClocks(skewMs: number): void;
  /** Secrets that its door holds now, whatever it could or could not ask for. */
  secretsAtDoor(account: string): readonly string[];
  /** Whatever starts next starts without what a process remembers. */
  forget(): void;
  /** A process that is at work, if there is one. */
  busyProcess(): Process | null;
}
