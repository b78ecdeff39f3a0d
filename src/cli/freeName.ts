import { existsSync } from "node:fs";

/** An unused name, so that no earlier copy is overwritten. */
export function freeName(wanted: string): string {
  for (let name = wanted, count = 2; ; name = `${wanted}-${count++}`) if (!existsSync(name)) return name;
}
