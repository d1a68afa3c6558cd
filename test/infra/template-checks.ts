import { expect } from '@jest/globals';
import type { SynthesizedTemplate } from './synthesized.ts';

/** The values that one resource must have; it may have others. */
export interface Requirement {
  /** Logical id without its hash. */
  readonly id: string;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** @throws Error when the resource is absent or lacks a value */
export function checkRequirement({ resources }: SynthesizedTemplate, { id, type, body }: Requirement): void {
  const resource = resources[id];
  if (resource === undefined) throw new Error(`there is no ${id}`);
  expect(resource).toMatchObject({ ...body, Type: type });
}

/** The required values that can be removed from the template, one at a time, without the check failing. */
export function findUnnoticed(template: SynthesizedTemplate, requirement: Requirement): readonly string[] {
  const paths = listRequiredPaths(requirement.body);
  if (paths.length === 0) throw new Error(`the requirement of ${requirement.id} is empty`);
  return paths
    .filter((path) => passes(removeValue(template, requirement.id, path), requirement))
    .map((path) => path.join('.'));
}

function passes(template: SynthesizedTemplate, requirement: Requirement): boolean {
  try {
    checkRequirement(template, requirement);
    return true;
  } catch {
    return false;
  }
}

/** The path of keys to each required value, including those in lists. */
function listRequiredPaths(required: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof required !== 'object' || required === null) return [path];
  return Object.entries(required).flatMap(([key, value]) => listRequiredPaths(value, [...path, key]));
}

/** The template without one value of one resource. */
function removeValue(
  template: SynthesizedTemplate,
  id: string,
  path: readonly string[],
): SynthesizedTemplate {
  const resources = structuredClone(template.resources);
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((value, key) => Reflect.get(Object(value), key), resources[id]);
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else Reflect.deleteProperty(Object(parent), last);
  return { ...template, resources };
}
