import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { countDeclarations } from "./structure/declarations.ts";
import { traceFlows } from "./structure/flows.ts";
import { readSourceFiles } from "./structure/sourceFiles.ts";

/**
 * `npm run structure [-- --of=CHECKOUT] [--flows=false]`: prints how the source is divided. First what it declares, by its text, of
 * another checkout too; then how many files each flow passes through, by what runs in a network of this checkout's program.
 */
const { values } = parseArgs({
  options: { of: { type: "string", default: "." }, flows: { type: "string", default: "true" } },
});
console.table(countDeclarations(readSourceFiles(resolve(values.of, "src"))));
if (values.flows === "true" && values.of === ".") console.table(await traceFlows());
