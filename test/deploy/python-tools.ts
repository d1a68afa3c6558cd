import { join } from 'node:path';
import { installOnce } from '../support/install-once.ts';
import { plainEnvironment, runToSuccess } from './run-process.ts';

/** What is taken from PyPI. */
const packages = { ministack: '1.5.33', 'cfn-lint': '1.58.0' } as const;

/** The Python of a virtual environment that has the AWS emulator and the template linter. */
export async function installPythonTools(): Promise<string> {
  const name = Object.entries(packages)
    .map(([tool, version]) => `${tool}-${version}`)
    .join('_');
  return pythonOf(await installOnce(name, install));
}

function pythonOf(home: string): string {
  return join(home, 'bin', 'python');
}

async function install(folder: string): Promise<void> {
  const env = { ...plainEnvironment(), PATH: process.env['PATH'] ?? '' };
  const wanted = Object.entries(packages).map(([tool, version]) => `${tool}==${version}`);
  await runToSuccess('python3', ['-m', 'venv', folder], { env });
  await runToSuccess(pythonOf(folder), ['-m', 'pip', 'install', '--quiet', ...wanted], { env });
}
