import type { TrialChain } from "./trialChain.ts";

/** One request, or a few that belong together, to be asked of each node; what it returns is compared. */
export interface Trial {
  readonly method: string;
  /** What distinguishes it from the method's other trials. */
  readonly form: string;
  readonly run: (chain: TrialChain) => Promise<unknown>;
  /** A node that would take for ever. */
  readonly notAskedOf?: "anvil" | "hardhat";
}

export const trial = (method: string, form: string, run: Trial["run"]): Trial => ({ method, form, run });

/** Parameters of which each node says no more than that it takes them or not, and what it does then. */
export type Forms = Readonly<Record<string, readonly unknown[]>>;

export function eachForm(
  methods: readonly string[],
  forms: Forms,
  run: (chain: TrialChain, method: string, params: readonly unknown[]) => Promise<unknown>,
): readonly Trial[] {
  return methods.flatMap((method) =>
    Object.entries(forms).map(([form, params]) => trial(method, form, (chain) => run(chain, method, params))),
  );
}

/** What no number can be. */
export const WRONG_NUMBERS: Forms = {
  "no parameter": [],
  null: [null],
  "a word": ["abc"],
  "a negative number": [-1],
  "a fraction": [1.5],
  true: [true],
};

export const WRONG_FLAGS: Forms = { "no parameter": [], null: [null], "a word": ["true"], "a number": [1] };

/** More seconds than pass in a test. */
export const FAR = 100_000;
