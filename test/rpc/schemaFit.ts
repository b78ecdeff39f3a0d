type Schema = Readonly<Record<string, unknown>>;

/** Whether a value matches a JSON schema, within the keywords that our schemas use. */
export function fits(schema: unknown, value: unknown): boolean {
  if (typeof schema === "boolean") return schema;
  return Object.entries(schema as Schema).every(([keyword, wanted]) =>
    holds(schema as Schema, keyword, wanted, value),
  );
}

function holds(schema: Schema, keyword: string, wanted: unknown, value: unknown): boolean {
  switch (keyword) {
    case "type":
      return typeOf(value) === wanted || (wanted === "number" && typeOf(value) === "integer");
    case "pattern":
      return typeof value !== "string" || new RegExp(wanted as string).test(value);
    case "enum":
      return (wanted as readonly unknown[]).includes(value);
    case "oneOf":
      return (wanted as readonly unknown[]).filter((each) => fits(each, value)).length === 1;
    case "anyOf":
      return (wanted as readonly unknown[]).some((each) => fits(each, value));
    case "items":
      return !Array.isArray(value) || value.every((item, index) => fitsItem(wanted, item, index));
    case "properties":
    case "additionalProperties":
      return !isObject(value) || Object.entries(value).every((member) => fitsMember(schema, member));
    case "required":
      return !isObject(value) || (wanted as readonly string[]).every((name) => Object.hasOwn(value, name));
    case "maxProperties":
      return !isObject(value) || Object.keys(value).length <= Number(wanted);
    default:
      throw new Error(`unknown keyword: ${keyword}`);
  }
}

/** A list of schemas applies to the items by position, a single schema to all. */
function fitsItem(wanted: unknown, item: unknown, index: number): boolean {
  if (!Array.isArray(wanted)) return fits(wanted, item);
  return index >= wanted.length || fits(wanted[index], item);
}

function fitsMember(schema: Schema, [name, value]: readonly [string, unknown]): boolean {
  const properties = (schema["properties"] ?? {}) as Schema;
  const wanted = Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"];
  return wanted === undefined || fits(wanted, value);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function isObject(value: unknown): value is Schema {
  return typeOf(value) === "object";
}
