/** The real part, with some of its methods replaced. */
export function override<Part extends object>(part: Part, replacements: Partial<Part>): Part {
  return new Proxy(part, {
    get(target, name) {
      if (Object.hasOwn(replacements, name)) return Reflect.get(replacements, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
