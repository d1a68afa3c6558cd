import type { SQSEvent } from 'aws-lambda';
import type { WorkerHandler } from '../../lib/host/worker.ts';
import { parseSignalMessage } from '../../lib/queue/parse-message.ts';
import { type Invocation, type Process, runInvocation } from './process.ts';
import type { HeldMessage } from './queue-service.ts';

/** The parts of an SQS event that the worker reads. */
export function toQueueEvent({ receipt, group, body, receiveCount }: HeldMessage): SQSEvent {
  const attributes = { MessageGroupId: group, ApproximateReceiveCount: String(receiveCount) };
  return {
    Records: [{ messageId: receipt, receiptHandle: receipt, body, attributes }],
  } as unknown as SQSEvent;
}

/** Runs each message of the handler as an invocation named after its signal. */
export function nameInvocations(process: Process, handler: WorkerHandler): WorkerHandler {
  return (event) => {
    const { account, signalId } = parseSignalMessage(event.Records[0]?.body ?? '');
    const invocation: Invocation = {
      handlerName: 'execute',
      name: signalId,
      key: { account, signalId },
      startedAtMs: process.stage.loop.nowMs,
    };
    return runInvocation(invocation, () => handler(event));
  };
}
