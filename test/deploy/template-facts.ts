import type { Resource, Template } from './deployment.ts';

/** The one resource of that type whose logical id begins so, by its properties. */
export function propertiesOf(
  template: Template,
  type: string,
  idPrefix = '',
): Readonly<Record<string, unknown>> {
  return findResource(template, type, idPrefix).Properties;
}

export function findResource({ Resources }: Template, type: string, idPrefix = ''): Resource {
  const found = Object.entries(Resources).filter(
    ([id, resource]) => resource.Type === type && id.startsWith(idPrefix),
  );
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`the template has ${found.length} resources ${type} ${idPrefix}…, not one`);
  return only[1];
}
