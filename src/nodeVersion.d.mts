export function nodeVersionFault(version: string): string | undefined;
