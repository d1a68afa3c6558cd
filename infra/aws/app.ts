import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { explainConfigError, type HostConfig } from '../../lib/host/config.ts';
import { isPaperStage, onPaper } from '../../lib/host/paper-stage.ts';
import { bundleFunctions } from './bundle.ts';
import { loadConfig } from './load-config.ts';
import { RelayStack } from './relay-stack.ts';

const app = new App();
const stage = readContext('stage') ?? 'prod';
if (!/^[a-z][a-z0-9-]{0,31}$/.test(stage))
  throw new Error(
    `the stage "${stage}" must be 1 to 32 characters of a-z, 0-9 and -, and begin with a letter`,
  );

const config = isPaperStage(stage) ? onPaper(readConfig()) : readConfig();
const bundles = await bundleFunctions({ outputFolder: join(app.outdir, 'functions'), config });
// No account and no region: the credentials of the deploy decide, so one template serves all.
new RelayStack(app, `trading-relay-${stage}`, { stage, config, bundles });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
app.synth();

/** What is wrong with the configuration is the reader's to mend: a stack trace would hide it. */
function readConfig(): HostConfig {
  try {
    return loadConfig(readContext('config'));
  } catch (error) {
    const explained = explainConfigError(error);
    if (explained === null) throw error;
    process.stderr.write(`${explained}\nNothing was deployed.\n`);
    process.exit(1);
  }
}

function readContext(name: string): string | undefined {
  const value: unknown = app.node.tryGetContext(name);
  if (value === undefined || typeof value === 'string') return value;
  throw new Error(`the context "${name}" must be text: -c ${name}=...`);
}
