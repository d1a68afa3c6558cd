import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';

/** Synthesizes for all test files of a run. */
export interface Synthesizer {
  /** Takes a `SynthesisRequest` and answers with a `SynthesisResult`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A thread that loads the CDK once, when a template is first asked for, and makes each template once. Inside a test file
 * the CDK would be loaded again for every file, at ten times the cost.
 */
export async function startSynthesizer(): Promise<Synthesizer> {
  const results = new Map<string, Promise<string>>();
  let thread: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();

  async function ask(request: string): Promise<string> {
    // What the CDK prints is in the templates and in the findings.
    thread ??= new Worker(new URL('./synthesis-thread.ts', import.meta.url), { stdout: true, stderr: true });
    thread.postMessage(JSON.parse(request));
    const [result] = (await once(thread, 'message')) as [unknown];
    return JSON.stringify(result);
  }

  /** One after the other: the thread posts its results in the order of the requests. */
  function resultOf(request: string): Promise<string> {
    const known = results.get(request);
    if (known !== undefined) return known;
    const made = last.then(() => ask(request));
    results.set(request, made);
    // Only a new one is the last: after one that was made before, the next would begin beside one that is being made.
    last = made;
    return made;
  }

  const server = createServer(async (request, response) => {
    const result = await text(request)
      .then(resultOf)
      .catch((error: unknown) => JSON.stringify({ findings: `the synthesizer failed: ${error}` }));
    response.end(result);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await thread?.terminate();
    },
  };
}
