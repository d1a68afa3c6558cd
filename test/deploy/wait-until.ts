import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again and again until the response will do: what happens inside the emulator tells nobody.
 *
 * @throws Error that names what did not come, with the last response
 */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T>,
  will: (response: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const giveUpAtMs = Date.now() + timeoutMs;
  for (;;) {
    const response = await ask();
    if (will(response)) return response;
    if (Date.now() >= giveUpAtMs)
      throw new Error(`${what} did not come within ${timeoutMs / 1000} s: ${JSON.stringify(response)}`);
    await sleep(100);
  }
}
