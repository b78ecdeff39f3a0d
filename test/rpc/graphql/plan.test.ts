import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/primitives/steps.ts";
import { type PlannedField, planOf } from "../../../src/rpc/graphql/execution/plan.ts";
import { operationOf } from "../../../src/rpc/graphql/operation.ts";
import { readQuery } from "../../../src/rpc/graphql/readQuery.ts";

/** The plan of a query, and the number of steps in which it is made. */
function planned(query: string): { readonly fields: readonly PlannedField[]; readonly steps: number } {
  const steps = planOf(operationOf(atOnce(readQuery(query)), undefined, {}));
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done === true) return { fields: value, steps: count };
  }
}

function everyField(fields: readonly PlannedField[]): readonly PlannedField[] {
  return fields.flatMap((field) => [field, ...everyField(field.selections)]);
}

/** A field of one fragment in 2,400 places. */
function inManyPlaces(field: string): string {
  const blocks = Array.from({ length: 40 }, (_, index) => `a${index}:block{...G}`).join(" ");
  const parents = Array.from({ length: 60 }, (_, index) => `p${index}:parent{...F}`).join(" ");
  return `{${blocks}} fragment G on Block{${parents}} fragment F on Block{${field}}`;
}

describe("planOf", () => {
  it("reads the arguments of a field once, in however many places a fragment puts it", () => {
    const data = `0x${"00".repeat(1_000)}`;
    const { fields } = planned(inManyPlaces(`call(data:{data:"${data}"}){status}`));
    const calls = everyField(fields).filter(({ key }) => key === "call");
    expect(calls).toHaveLength(2_400);
    expect(new Set(calls.map(({ args }) => args)).size).toBe(1);
    expect(calls[0]?.args).toEqual({ data: { data: new Uint8Array(1_000) } });
  });

  it("reads arguments that cannot be used once, too", () => {
    const { fields } = planned(inManyPlaces("call(data:null){status}"));
    const calls = everyField(fields).filter(({ key }) => key === "call");
    expect(new Set(calls.map(({ argumentError }) => argumentError)).size).toBe(1);
    expect(calls[0]?.argumentError?.message).toMatch(/^Argument 'data' has coerced Null value/);
  });

  it("pauses after some hundred fields, and after long arguments", () => {
    expect(planned("{block{number}}").steps).toBe(1);
    expect(planned(inManyPlaces("number")).steps).toBeGreaterThan(10);
    const data = `0x${"00".repeat(200_000)}`;
    expect(planned(`{block{call(data:{data:"${data}"}){status}}}`).steps).toBe(2);
  });
});
