/** What the relay's log says about the signals that the benchmark sent. */
export interface RelayLog {
  /** Reads one line of the relay's standard output. Never throws: a line may be anything. */
  hear(line: string): void;
  /**
   * Resolves when the log says that the signal has this status.
   *
   * @throws Error when the signal gets another outcome, or none in time: something else would be measured
   */
  waitFor(signalId: string, status: string): Promise<void>;
  /** How often the log said something that concerns no waiting signal, by what it said. */
  readonly asides: ReadonlyMap<string, number>;
}

interface Waiting {
  readonly wanted: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Not outcomes: the signal is still on its way. */
const onItsWay: ReadonlySet<string> = new Set(['signal accepted', 'signal sending']);
const defaultTimeoutMs = 60_000;

/**
 * The log belongs to the whole relay: its scheduled runs write lines between those about signals, and a library may
 * write a line that is not JSON. Only a line about a signal that is waited for decides anything.
 */
export function createRelayLog(timeoutMs = defaultTimeoutMs): RelayLog {
  const waiting = new Map<string, Waiting>();
  const asides = new Map<string, number>();

  function settle(signalId: string): void {
    clearTimeout(waiting.get(signalId)?.timer);
    waiting.delete(signalId);
  }

  return {
    asides,
    hear(line) {
      const { message, signalId } = readLine(line);
      if (onItsWay.has(message)) return;
      const signal = waiting.get(signalId);
      if (signal === undefined) {
        asides.set(message, (asides.get(message) ?? 0) + 1);
        return;
      }
      settle(signalId);
      if (message === `signal ${signal.wanted}`) signal.resolve();
      else
        signal.reject(new Error(`signal ${signalId} should be ${signal.wanted}, and the log says: ${line}`));
    },
    waitFor(signalId, wanted) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        settle(signalId);
        reject(
          new Error(
            `after ${timeoutMs / 1000} s, the log has no outcome of signal ${signalId}: see the relay's log`,
          ),
        );
      }, timeoutMs);
      waiting.set(signalId, { wanted, resolve, reject, timer });
      return promise;
    },
  };
}

interface Line {
  readonly message: string;
  /** Empty when the line is not about a signal. */
  readonly signalId: string;
}

function readLine(line: string): Line {
  const { message, signalId } = parseObject(line);
  return {
    message: typeof message === 'string' ? message : 'a line that is not of the log',
    signalId: typeof signalId === 'string' ? signalId : '',
  };
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
