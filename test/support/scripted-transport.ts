import type { Transport, WireOutcome, WireRequest } from '../../lib/base/wire.ts';

/** A wire without a network, for failures a real one cannot be told to have. */
export interface ScriptedTransport extends Transport {
  readonly sent: readonly WireRequest[];
}

/** @param outcomes one for each request, or a function that makes it when the request comes */
export function createScriptedTransport(
  outcomes: readonly (WireOutcome | ((request: WireRequest) => Promise<WireOutcome>))[],
): ScriptedTransport {
  const sent: WireRequest[] = [];
  return {
    sent,
    async send(request) {
      const outcome = outcomes[sent.length];
      sent.push(request);
      if (outcome === undefined) throw new Error(`the script holds no outcome for request ${sent.length}`);
      return typeof outcome === 'function' ? await outcome(request) : outcome;
    },
    close: () => undefined,
  };
}
