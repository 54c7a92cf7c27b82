/**
 * Puts values into `{name}` places in one pass: what a value holds (dollar signs, braces, other places) is never
 * read again. TypeError for a place without a value, as that is a fault of the program.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{([a-z_]+)\}/g, (_place, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) throw new TypeError(`The template has no value for {${name}}.`);
    return value;
  });
}
