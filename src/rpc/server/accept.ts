/** Whether an Accept header leaves room for JSON; without one everything is welcome. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === "" || accept === "*/*") return true;
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return JSON_RANGES.has(type) && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

const JSON_RANGES = new Set(["*/*", "*", "application/*", "application/json"]);
