import * as z from 'zod';
import { startCommand } from '../checks/check.ts';
import type { Context } from '../command.ts';
import { CommandFailure } from '../failure.ts';
import { askHttp, type HttpRequest } from './http.ts';

const ControlRefusal = z.object({ error: z.string() });

/**
 * Calls a control route of the paper exchange.
 *
 * @param path path of the control route
 * @throws CommandFailure when there is no paper exchange, or it refuses
 */
export async function askControl(
  { session }: Context,
  method: HttpRequest['method'],
  path: string,
  body?: object,
): Promise<unknown> {
  const exchangeUrl = session.locatePaper();
  const response = await askHttp({
    url: `${exchangeUrl}${path}`,
    method,
    recipient: `the paper exchange at ${exchangeUrl}`,
    start: session.target.kind === 'local' ? startCommand(session.target.data, false) : 'npm start',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.httpStatus < 300) return response.body;
  const refusal = ControlRefusal.safeParse(response.body);
  if (refusal.success)
    throw new CommandFailure(
      'paper_refused',
      `the paper exchange refused: ${refusal.data.error.replaceAll(/\s*\n\s*/g, ' ')}`,
      'Correct the command: a market is named as on the exchange (BTC_USDT), and --help shows the options.',
    );
  throw new CommandFailure(
    'no_paper_exchange',
    `${exchangeUrl} responded with HTTP ${response.httpStatus}, which is not a response of a paper exchange`,
    'These commands are for the paper exchange of `npm start` only.',
  );
}
