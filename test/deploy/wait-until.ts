import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks again and again until the answer will do: what happens inside the emulator tells nobody.
 *
 * @throws Error that names what did not come, with the last answer
 */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T>,
  will: (answer: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const giveUpAtMs = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (will(answer)) return answer;
    if (Date.now() >= giveUpAtMs)
      throw new Error(`${what} did not come within ${timeoutMs / 1000} s: ${JSON.stringify(answer)}`);
    await sleep(100);
  }
}
