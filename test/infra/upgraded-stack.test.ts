import { beforeAll, describe, expect, test } from '@jest/globals';
import exampleConfig from '../../relay.config.example.ts';
import { keptVersions, readKeptStack } from '../support/kept-folders.ts';
import { synthesize } from './synthesized.ts';

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

let today: Readonly<Record<string, Resource>>;
beforeAll(async () => {
  today = JSON.parse((await synthesize({ config: exampleConfig })).text).Resources;
});

describe.each(keptVersions)('The stack of a release with ledger %i', (version) => {
  const kept = Object.entries(readKeptStack(version));

  test('has tables, queues, secrets and a topic', () => {
    const types = new Set(kept.map(([, { Type }]) => Type));
    expect([...types].sort()).toEqual([
      'AWS::DynamoDB::GlobalTable',
      'AWS::SNS::Topic',
      'AWS::SQS::Queue',
      'AWS::SecretsManager::Secret',
    ]);
  });

  test.each(kept)('keeps %s when it is deployed again', (id, { Type, DeletionPolicy, fixed }) => {
    const found = today[id];

    expect(found?.Type).toBe(Type);
    expect(found?.DeletionPolicy).toBe(DeletionPolicy);
    const properties = Object.keys(fixed).map((name) => [name, found?.Properties?.[name]]);
    expect(Object.fromEntries(properties)).toEqual(fixed);
  });
});
