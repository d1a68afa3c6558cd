import { createRunner } from 'jest-light-runner';
import Tinypool from 'tinypool';

/**
 * The runner gives all workers one channel: it answers the first worker that asks for the settings, and nobody after that. A worker
 * that has not begun to listen by then waits for them for ever, and so does the run. Here each worker has a channel of its own.
 */
const { run } = Tinypool.prototype;
Tinypool.prototype.run = function runWithOwnChannel(task, options) {
  return run.call(this, task, { ...options, channel: createChannel(this.options.workerData) });
};

function createChannel(workerData) {
  const listeners = new Set();
  return {
    onMessage: (listener) => listeners.add(listener),
    postMessage(message) {
      if (message !== 'jest-light-runner-get-worker-data') return;
      for (const listener of listeners) listener({ type: 'jest-light-runner-worker-data', workerData });
    },
  };
}

/** Runs the test files of one project in one process after another. A runner of jest. */
export default createRunner({ runtime: 'child_process' });
