import { constants, copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';

const projectRoot = join(import.meta.dirname, '..', '..');
const shippedName = 'relay.config.example.ts';
const ownName = 'relay.config.ts';

/** What only a relay that had a configuration leaves behind: its ledger, and what was deployed last. */
const traces = [join('.relay', 'relay.db'), 'cdk.out'];

/**
 * Makes the owner's `relay.config.ts` from the one that ships, where the relay begins without.
 *
 * Where the relay has run before, its owner's settings are lost, and others must not silently take their place: an
 * update to the first release that keeps the file out of git removes a file that was never changed.
 *
 * @param folder of the project
 * @returns a sentence that tells what was done; null when there was nothing to do
 * @throws RelayError `config_missing`, which says how to get the file back
 */
export function provideConfig(folder = projectRoot): string | null {
  const path = join(folder, ownName);
  if (existsSync(path)) return null;
  const trace = traces.find((name) => existsSync(join(folder, name)));
  if (trace !== undefined)
    throw new RelayError(
      'config_missing',
      `${ownName} is not there, though this relay has run before (there is ${trace}): put yours back, right after a \`git pull\` with \`git restore --source=ORIG_HEAD ${ownName}\`, or begin with what ships: \`cp ${shippedName} ${ownName}\``,
    );
  try {
    copyFileSync(join(folder, shippedName), path, constants.COPYFILE_EXCL);
  } catch (error) {
    // Another process of the same start was faster.
    if (existsSync(path)) return null;
    throw new RelayError(
      'config_missing',
      `${ownName} cannot be made from ${shippedName}: ${describeError(error)}`,
      { cause: error },
    );
  }
  return `${ownName} was made from ${shippedName}: it is yours to change, and git leaves it alone.`;
}
