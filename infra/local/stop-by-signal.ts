/** The terminal and npm both send Ctrl-C. Signals within this time count as one. */
const sameSignalMs = 1_000;

/** The first signal stops the relay gracefully. A later one ends the process at once. */
export function stopBySignal(stop: () => Promise<void>): void {
  let firstAtMs: number | null = null;
  function handleSignal(): void {
    if (firstAtMs === null) void stop();
    firstAtMs ??= performance.now();
    if (performance.now() - firstAtMs > sameSignalMs) process.exit(1);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handleSignal);
}
