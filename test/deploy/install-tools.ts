import openRun from '../support/open-run.ts';
import { installPythonTools } from './python-tools.ts';

/** Before any test, so that the tests' own time is not spent on it. */
export default async function installTools(): Promise<void> {
  await installPythonTools();
  await openRun();
}
