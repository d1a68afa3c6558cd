import type { Alarm } from '../base/alarms.ts';
import type { Json } from '../base/json.ts';
import type { SendOptions } from '../exchange/client.ts';
import type { Denial, Status } from '../model/outcome.ts';

/** What executing a signal comes down to, decided before anything is sent. */
export type Plan =
  | { readonly verdict: 'denied'; readonly denial: Denial }
  /** It ends here: nothing is sent. */
  | { readonly verdict: 'ended'; readonly outcome: Outcome }
  | { readonly verdict: 'ready'; readonly action: Action };

/** Requests that are ready to go: nothing that can fail is left but the wire. */
export interface Action {
  /** Orders count against the account's rate; cancellations never do. */
  readonly isOrder: boolean;
  /** The requests as a dry run shows them, without key, nonce or signature. */
  readonly requests: readonly Json[];
  /** What the `sending` step keeps for whoever must look for its outcome. */
  readonly evidence?: Json;
  /** Goes on the wire and tells the outcome; failures of the exchange are outcomes too. */
  send(options: SendOptions): Promise<Outcome>;
}

/** How an action ended. */
export interface Outcome {
  readonly status: Status;
  readonly note: string;
  readonly evidence: Json;
  readonly orderId?: number;
  readonly orderOpen?: boolean;
  /** Something a person must look into, whatever the status. */
  readonly alarm?: Alarm;
}

export function deny(rule: string, limit: string, actual: string, message: string): Plan {
  return { verdict: 'denied', denial: { rule, limit, actual, message } };
}
