import { parentPort } from 'node:worker_threads';
import { synthesizeStack } from './synthesis.ts';
import type { SynthesisRequest, SynthesisResult } from './synthesized.ts';

// The result of each request is posted before the next request arrives.
parentPort?.on('message', (request: SynthesisRequest) => parentPort?.postMessage(tryToSynthesize(request)));

function tryToSynthesize(request: SynthesisRequest): SynthesisResult {
  try {
    return { template: synthesizeStack(request) };
  } catch (error) {
    return { findings: (error as Error).message };
  }
}
