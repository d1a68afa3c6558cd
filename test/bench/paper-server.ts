import { startPaperExchange } from '../../lib/paper/server/server.ts';
import { serveParent } from './bench-process.ts';

/** The paper exchange, which keeps orders, so that they can be cancelled. Its prices stand still. */
serveParent(await startPaperExchange({ port: 0, dialect: 'live', walk: false }));
