import { describe, expect, test } from '@jest/globals';
import { CfnResource } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { synthesize } from './synthesized.ts';

describe('The checks of a synthesis', () => {
  test('find nothing that is not acknowledged with its reason', () => {
    expect(() => synthesize()).not.toThrow();
  });

  test('look at all resources: a careless one is found by both rule packs', () => {
    const addQueue = () => synthesize({ change: (stack) => new Queue(stack, 'Careless') });

    expect(addQueue).toThrow('AwsSolutions-SQS4');
    expect(addQueue).toThrow('Serverless-SQSRedrivePolicy');
  });

  test('compare properties with what the service takes, without asking it', () => {
    const addQueue = () =>
      synthesize({
        change: (stack) =>
          new CfnResource(stack, 'Patient', { type: 'AWS::SQS::Queue', properties: { DelaySeconds: 901 } }),
      });

    expect(addQueue).toThrow('DelaySeconds');
  });
});
