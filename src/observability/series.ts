import { assert } from "../primitives/assert.ts";

/** The labels of a series with their values. */
export type SeriesLabels = readonly (readonly [name: string, value: string])[];

/** One series of a family: its labels and the instrument that counts under them. */
export interface Series<Instrument> {
  readonly labels: SeriesLabels;
  readonly instrument: Instrument;
}

/** Series by their label values. Without labels, the only series exists from the start. */
export class SeriesTable<Instrument> {
  readonly entries: Series<Instrument>[] = [];
  readonly #byValues = new Map<string, Instrument>();
  readonly #labels: readonly string[];
  readonly #create: () => Instrument;

  constructor(labels: readonly string[], create: () => Instrument) {
    this.#labels = labels;
    this.#create = create;
    if (labels.length === 0) this.with();
  }

  with(...values: readonly string[]): Instrument {
    const key = values.length === 1 ? (values[0] ?? "") : values.join("\n");
    const known = this.#byValues.get(key);
    if (known !== undefined) return known;
    const instrument = this.#create();
    this.#byValues.set(key, instrument);
    this.entries.push({ labels: paired(this.#labels, values), instrument });
    return instrument;
  }
}

/** Label names with their values. */
export function paired(labels: readonly string[], values: readonly string[]): SeriesLabels {
  assert(labels.length === values.length, "a series has one value for each of its labels");
  return labels.map((label, index) => [label, values[index] ?? ""] as const);
}
