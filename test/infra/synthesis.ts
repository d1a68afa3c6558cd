import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnResource, type Stack, Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { type Bundles, functionsOf } from '../../infra/aws/function-names.ts';
import { RelayStack } from '../../infra/aws/relay-stack.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { isPaperStage, onPaper } from '../../lib/host/paper-stage.ts';
import { readProjectFile } from '../support/project-files.ts';
import type { Resource, SynthesisRequest, SynthesizedTemplate } from './synthesized.ts';

/** Resources that the checks of a synthesis must find. */
const additions = {
  carelessQueue: (stack: Stack) => new Queue(stack, 'Careless'),
  patientQueue: (stack: Stack) =>
    new CfnResource(stack, 'Patient', { type: 'AWS::SQS::Queue', properties: { DelaySeconds: 901 } }),
};

export type AdditionName = keyof typeof additions;

/**
 * Synthesizes the stack as the CDK app does, with all checks, but with empty functions.
 *
 * @throws Error that names every finding of the rule packs and of the property validation
 */
export function synthesizeStack({ config, stage, addition }: SynthesisRequest): SynthesizedTemplate {
  const folder = mkdtempSync(join(tmpdir(), 'relay-synth-'));
  try {
    const { context } = JSON.parse(readProjectFile('cdk.json')) as { context: Record<string, unknown> };
    const app = new App({ outdir: join(folder, 'out'), context, analyticsReporting: false });
    const parsed = parseConfig(config);
    const stack = new RelayStack(app, `trading-relay-${stage}`, {
      stage,
      config: isPaperStage(stage) ? onPaper(parsed) : parsed,
      bundles: createEmptyBundles(folder, stage),
    });
    if (addition !== null) additions[addition](stack);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
    const { messages } = app.synth().getStackByName(stack.stackName);
    const warnings = messages
      .filter(({ level }) => level === 'warning')
      .map(({ entry }) => String(entry.data));
    return { ...readTemplate(join(app.outdir, `${stack.stackName}.template.json`)), warnings };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function createEmptyBundles(folder: string, stage: string): Bundles {
  const folders = functionsOf(isPaperStage(stage)).map((name) => [name, join(folder, name)] as const);
  for (const [name, path] of folders) {
    mkdirSync(path);
    writeFileSync(join(path, 'index.js'), `exports.handler = async () => '${name}';\n`);
  }
  return Object.fromEntries(folders) as Bundles;
}

function readTemplate(path: string): Omit<SynthesizedTemplate, 'warnings'> {
  const text = readFileSync(path, 'utf8');
  const { Resources, Outputs } = JSON.parse(withoutHashes(text)) as {
    Resources: Record<string, Resource>;
    Outputs: Record<string, unknown>;
  };
  return { resources: Resources, outputs: Outputs, text };
}

/** Removes the hash from every logical id, in every place where the id occurs. */
function withoutHashes(text: string): string {
  const { Resources } = JSON.parse(text) as { Resources: Record<string, Resource> };
  const names = new Map(
    Object.keys(Resources).map((id) => [id, id.replace(/[0-9A-F]{8}(?:[0-9a-f]{32})?$/, '')]),
  );
  if (new Set(names.values()).size < names.size) throw new Error('two logical ids differ by their hash only');
  return text.replace(/"(\w+)"/g, (_, word: string) => `"${names.get(word) ?? word}"`);
}
