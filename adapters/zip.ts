import { PassThrough, pipeline, type Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** A file of an archive. It is opened when its turn comes. */
export interface ArchivedFile {
  readonly name: string;
  readonly open: () => Readable;
}

/**
 * Makes a ZIP archive of files, one after the other, as fast as its reader takes it; one larger than 4 GiB is ZIP64. When
 * a file fails, so does the archive: without the directory at its end, no program takes it for a whole one. Whoever
 * destroys it closes the file that is open. No file is opened before somebody reads.
 */
export function zipOf(files: readonly ArchivedFile[]): Readable {
  let isBegun = false;
  const archive = new PassThrough({
    read(size) {
      if (!isBegun) write(files, archive);
      isBegun = true;
      PassThrough.prototype._read.call(archive, size);
    },
  });
  return archive;
}

function write(files: readonly ArchivedFile[], archive: PassThrough): void {
  const zip = new ZipFile();
  let current: Readable | undefined;
  const fail = (error: Error): void => void archive.destroy(error);
  pipeline(zip.outputStream, archive, () => current?.destroy());
  zip.on('error', fail);
  for (const { name, open } of files) {
    zip.addReadStreamLazy(name, (give) => {
      if (archive.destroyed) return;
      current = open().once('error', fail);
      give(null, current);
    });
  }
  zip.end();
}
