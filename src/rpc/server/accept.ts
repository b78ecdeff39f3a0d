/** Whether an Accept header allows JSON; a missing header allows everything. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === "" || accept === "*/*") return true;
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return JSON_RANGES.has(type) && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

const JSON_RANGES = new Set(["*/*", "*", "application/*", "application/json"]);
