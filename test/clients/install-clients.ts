import openRun from '../support/open-run.ts';
import { installCcxt } from './ccxt.ts';

/** Before any test, so that the tests' own time is not spent on it. */
export default async function installClients(): Promise<void> {
  await installCcxt();
  await openRun();
}
