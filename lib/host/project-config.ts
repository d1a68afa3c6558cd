import { constants, copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';

const projectRoot = join(import.meta.dirname, '..', '..');
const shippedName = 'relay.config.example.ts';
const ownName = 'relay.config.ts';

/** Files that only a relay with a configuration creates: its ledger, and the output of its last deploy. */
const traces = [join('.relay', 'relay.db'), join('.relay-live', 'relay.db'), 'cdk.out'];

/**
 * Creates `relay.config.ts` from the shipped example when a new relay has none.
 *
 * If the relay has run before, its settings are lost, and the defaults must not
 * replace them silently. This happens with an update to the first release that
 * keeps the file out of git: git then removes a file that was never changed.
 *
 * @param folder of the project
 * @returns a sentence that says what was done; null when there was nothing to do
 * @throws RelayError `config_missing`, whose message says how to get the file back
 */
export function provideConfig(folder = projectRoot): string | null {
  const path = join(folder, ownName);
  if (existsSync(path)) return null;
  const trace = traces.find((name) => existsSync(join(folder, name)));
  if (trace !== undefined)
    throw new RelayError(
      'config_missing',
      `${ownName} is missing, though this relay has run before (${trace} exists). Restore your file: right after a \`git pull\` with \`git restore --source=ORIG_HEAD ${ownName}\`. To start from the shipped example instead: \`cp ${shippedName} ${ownName}\``,
    );
  try {
    copyFileSync(join(folder, shippedName), path, constants.COPYFILE_EXCL);
  } catch (error) {
    // Another process that started at the same time was faster.
    if (existsSync(path)) return null;
    throw new RelayError(
      'config_missing',
      `${ownName} cannot be created from ${shippedName}: ${describeError(error)}`,
      { cause: error },
    );
  }
  return `${ownName} was created from ${shippedName}. Change it as you need; git ignores it.`;
}
