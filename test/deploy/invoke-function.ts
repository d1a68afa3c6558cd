import { InvokeCommand, type LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';

/**
 * Calls a function of the stack and waits for its end.
 *
 * @param name part of its logical id: `Receive`
 * @returns whether it came to a response
 */
export async function invokeFunction(lambda: LambdaClient, name: string, event: object): Promise<boolean> {
  const { Functions = [] } = await lambda.send(new ListFunctionsCommand({}));
  const FunctionName = Functions.map((each) => each.FunctionName ?? '').find((each) =>
    each.includes(`Relay${name}Function`),
  );
  const { FunctionError } = await lambda.send(
    new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }),
  );
  return FunctionError === undefined;
}
