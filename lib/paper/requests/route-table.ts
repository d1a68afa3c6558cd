import { type Dialect, spokenDialect } from '../../exchange/dialect.ts';
import { markets } from '../../exchange/endpoints/markets.ts';
import { serverTime } from '../../exchange/endpoints/server-time.ts';
import type { PaperEndpoint, Route } from './request-context.ts';

/** A route, and the parameters that stand in the path of the request. */
export interface FoundRoute {
  readonly route: Route;
  readonly pathFields: Readonly<Record<string, string>>;
}

export interface RouteTable {
  /** The endpoints that the dialect has. */
  readonly endpoints: readonly PaperEndpoint[];
  /** Null: the exchange has no such path. */
  find(method: string, path: string): FoundRoute | null;
}

/** Endpoints that the relay reads in both dialects, although the written API has neither. */
const servedInBoth: ReadonlySet<PaperEndpoint> = new Set<PaperEndpoint>([markets, serverTime]);

/** The routes that a dialect has. The documented dialect has only the documented endpoints. */
export function createRouteTable(routes: readonly Route[], dialect: Dialect): RouteTable {
  const served = routes.filter(
    ({ endpoint }) =>
      dialect === 'live' || endpoint.availability === 'documented' || servedInBoth.has(endpoint),
  );
  const addressed = served.map((route) => {
    const { method, path } = route.endpoint;
    return { route, method, path: path[spokenDialect(dialect, route.endpoint)] };
  });
  const plain = new Map(addressed.map(({ route, method, path }) => [`${method} ${path}`, route]));
  const templates = addressed.filter(({ path }) => path.includes('{'));
  return {
    endpoints: served.map(({ endpoint }) => endpoint),
    find(method, path) {
      const route = plain.get(`${method} ${path}`);
      if (route !== undefined) return { route, pathFields: {} };
      for (const template of templates) {
        const pathFields = template.method === method ? matchPath(template.path, path) : null;
        if (pathFields !== null) return { route: template.route, pathFields };
      }
      return null;
    },
  };
}

/** The values of the placeholders of a template; null when the path is of another form. */
function matchPath(template: string, path: string): Readonly<Record<string, string>> | null {
  const steps = template.split('/');
  const given = path.split('/');
  if (given.length !== steps.length) return null;
  const fields: Record<string, string> = {};
  for (const [index, step] of steps.entries()) {
    const value = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(step)?.[1];
    if (name === undefined ? value !== step : value === '') return null;
    if (name !== undefined) fields[name] = decode(value);
  }
  return fields;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
