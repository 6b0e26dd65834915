import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const module = '../../clients/dashboard/src/format/time.ts';

/** What each format makes of instants in a zone: a process has one zone for good. */
async function shown(zone: string, format: string, instants: readonly string[]): Promise<string[]> {
  const script = `import * as time from ${JSON.stringify(new URL(module, import.meta.url).href)};
    console.log(JSON.stringify(${JSON.stringify(instants)}.map(time[${JSON.stringify(format)}])));`;
  const env = { ...process.env, TZ: zone, LC_ALL: 'en_US.UTF-8' };
  const args = ['--import', 'tsx', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return (JSON.parse(stdout) as string[]).map((text) => text.replaceAll('\u202f', ' '));
}

describe('the times of a night when the clock is put back', function () {
  this.timeout(20_000);

  const nights: readonly [zone: string, format: string, times: Readonly<Record<string, string>>][] = [
    [
      'America/New_York',
      'shortTime',
      {
        '2026-11-01T04:59:00Z': 'Nov 1, 12:59 AM',
        '2026-11-01T05:00:00Z': 'Nov 1, 1:00 AM EDT',
        '2026-11-01T05:59:00Z': 'Nov 1, 1:59 AM EDT',
        '2026-11-01T06:00:00Z': 'Nov 1, 1:00 AM EST',
        '2026-11-01T06:59:00Z': 'Nov 1, 1:59 AM EST',
        '2026-11-01T07:00:00Z': 'Nov 1, 2:00 AM',
        // In spring an hour is left out, and none comes twice.
        '2026-03-08T06:59:00Z': 'Mar 8, 1:59 AM',
        '2026-03-08T07:00:00Z': 'Mar 8, 3:00 AM',
      },
    ],
    [
      'Europe/Berlin',
      'fullTime',
      {
        '2026-10-25T00:30:00Z': 'Oct 25, 2026, 2:30:00 AM GMT+2',
        '2026-10-25T01:30:00Z': 'Oct 25, 2026, 2:30:00 AM GMT+1',
        '2026-10-25T02:00:00Z': 'Oct 25, 2026, 3:00:00 AM',
      },
    ],
    [
      // Half an hour.
      'Australia/Lord_Howe',
      'hourAndMinute',
      {
        '2026-04-04T14:29:00Z': '1:29 AM',
        '2026-04-04T14:30:00Z': '1:30 AM GMT+11',
        '2026-04-04T15:00:00Z': '1:30 AM GMT+10:30',
        '2026-04-04T15:30:00Z': '2:00 AM',
      },
    ],
    ['UTC', 'timeOfDay', { '2026-11-01T05:30:00Z': '5:30:00 AM', '2026-10-25T01:30:00Z': '1:30:00 AM' }],
  ];
  for (const [zone, format, times] of nights) {
    it(`are told apart by ${format} in ${zone}`, async () => {
      assert.deepEqual(await shown(zone, format, Object.keys(times)), Object.values(times));
    });
  }
});
