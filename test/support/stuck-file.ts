/** Generous: a slow machine must not fail what is right. */
const longestFileMs = 900_000;

/**
 * Ends a run whose test file never ends, and names the file. The runner that loads every module once has no time
 * limit of its own. A reporter of jest.
 */
export default class StuckFile {
  readonly #running = new Map<string, NodeJS.Timeout>();

  onTestFileStart({ path }: { path: string }): void {
    const timer = setTimeout(() => {
      process.stderr.write(`${path} has not ended within ${longestFileMs / 1000} s.\n`);
      process.exit(1);
    }, longestFileMs);
    this.#running.set(path, timer);
  }

  onTestFileResult({ path }: { path: string }): void {
    clearTimeout(this.#running.get(path));
    this.#running.delete(path);
  }
}
