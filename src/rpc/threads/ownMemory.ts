/**
 * The value without views of parts of larger memory, which its bytes are copied out of, on the side that sends it: structured clone
 * copies the whole memory behind a view, such as a block of megabytes behind the address of its proposer. The same value where there
 * are none.
 */
export function withOwnMemory<Value>(value: Value): Value {
  return copied(value) as Value;
}

function copied(value: unknown): unknown {
  if (value instanceof Uint8Array)
    return value.byteLength === value.buffer.byteLength ? value : Uint8Array.from(value);
  if (Array.isArray(value)) {
    const items = value.map(copied);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isCloneOfMembers(value)) return value;
  let changed: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(value)) {
    const own = copied(member);
    if (own === member) continue;
    changed ??= { ...value };
    changed[name] = own;
  }
  return changed ?? value;
}

/** Whether structured clone copies the members of the value, as it does of an object of any class of ours. */
function isCloneOfMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object.prototype.toString.call(value) === "[object Object]";
}
