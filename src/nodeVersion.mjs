/**
 * Which Node.js can run Ibex: the range of package.json's `engines`. Plain JavaScript without newer syntax, because scripts/setup.mjs
 * asks before anything is built, and main.ts on releases that cannot load the rest of the program.
 */

/** Oldest release of each supported line, as [major, minor]; all lines from the last one on are supported. */
const OLDEST = [
  [20, 19],
  [22, 13],
  [24, 0],
];

/** A sentence for the user of a release that is not supported; undefined for one that is. `version` has no leading v. */
export function nodeVersionFault(version) {
  const [major, minor] = version.split(".").map(Number);
  const [newestLine] = OLDEST[OLDEST.length - 1];
  const isSupported = major > newestLine || OLDEST.some(([line, least]) => line === major && minor >= least);
  if (isSupported) return undefined;
  return `Ibex needs Node.js 20 from 20.19 on, 22 from 22.13 on, or 24 or newer; this is ${version}.`;
}
